"""The rooms of the façade `graphmem.app.Graphmem`: one mixin per kind of call. They know no store; app.py wires them."""
