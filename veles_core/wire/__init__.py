"""The JSON that a client sends and sees: argument models, answer shapes, their schemas."""
