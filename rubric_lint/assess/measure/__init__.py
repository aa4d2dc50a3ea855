"""How a judge treats good and bad answers: shares, their bounds, and what they decide."""
