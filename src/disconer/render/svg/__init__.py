"""Documents as SVG pictures, for papers and slides. Imports `core` and `render`."""
