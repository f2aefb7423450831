#!/bin/bash
#SBATCH --job-name=disconer
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1     # one torchrun per node, which starts the processes
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
#SBATCH --requeue               # restart after a preemption or a lost node; --resume continues

#   sbatch train-slurm.sh config.yaml /shared/models/chia
# Both paths, the data and the environment must be the same on all nodes.

set -euo pipefail
config=$1 out=$2
export PROCESSES_A_NODE=${PROCESSES_A_NODE:-${SLURM_GPUS_ON_NODE:-1}}
export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / PROCESSES_A_NODE))
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1   # lets a lost node rejoin
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)

srun --kill-on-bad-exit=1 torchrun \
    --nnodes "$SLURM_NNODES" --nproc-per-node "$PROCESSES_A_NODE" \
    --rdzv-backend c10d --rdzv-endpoint "$first:29500" --rdzv-id "$SLURM_JOB_ID" --max-restarts 3 \
    -m disconer train "$config" --out "$out" --resume
