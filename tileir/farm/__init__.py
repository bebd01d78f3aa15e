"""Many jobs on many workers: content-addressed, isolated, and kept in a store on disk.

with JobStore(path) as store, executors.opened("processes", workers=2) as workers:
    summary = driver.drive(store, workers, jobs, JobLimits())
"""
