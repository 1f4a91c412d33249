"""The tables that scripts/make-tables writes, by their markers in the pages:

    results:NAME             loops.py, heap.py, applications.py; device.py has those of several benchmarks, such as results:summary
    results:flame_gpu        flame_gpu.py
    results:host/NAME        host.py: CPUs and compilers
    results:ranks/NAME       ranks.py: several GPUs
    results:allocators/NAME  allocators.py
    results:originals/NAME   originals.py: allocators of other authors; originals-later/NAME, too
    results:published/NAME   published.py: what papers claim

device.py reads the results of dynasoar-benchmark, and says which there may be: with them, loops.py, heap.py, applications.py and
flame_gpu.py make their tables. records.py has what all readers share, and cells.py what all tables share.
"""
