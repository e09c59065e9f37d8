"""``tw bench``: published benchmarks of world models, scored with the golds and their ceilings."""
