"""The doors: REST now. They only translate; every route is one call of the façade."""
