"""Word vectors from a pretrained transformer: finding and loading it, its subwords, its layers."""
