#!/bin/bash
# A study as a job array of Slurm: sbatch slurm.sh study.toml. A task that is requeued goes on where it was stopped.
#SBATCH --array=1-16
#SBATCH --ntasks=1
#SBATCH --requeue
foretrace sweep "$1" --jobs 1 --shard "$SLURM_ARRAY_TASK_ID/16"
# afterwards, once: foretrace sweep study.toml --merge 16 --csv study.csv
