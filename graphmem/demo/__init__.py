"""`graphmem demo`: a story that is also a test. What it expects and does not find, it says, and the command fails."""
