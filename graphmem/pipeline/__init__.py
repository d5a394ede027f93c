"""The steps from one turn to statements: slice, recognise, classify, bind time, embed, judge, write."""
