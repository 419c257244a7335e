// Energies of a small molecule in many poses beside a large one: a thread turns and moves the molecule for two poses at once and
// goes over all pairs of atoms, whose kinds' radii and charges lie in shared memory.
#define POSES 2

struct Kind {
  float radius, hardness, charge, wet;
};

__global__ void docking_energies(const float4* __restrict__ protein, const int* __restrict__ protein_kind,
                                 const float4* __restrict__ ligand, const int* __restrict__ ligand_kind,
                                 const float* __restrict__ poses, const Kind* __restrict__ kinds, float* __restrict__ energies,
                                 int protein_atoms, int ligand_atoms, int kind_count, int pose_count) {
  extern __shared__ Kind shared_kinds[];
  for (int k = threadIdx.x; k < kind_count; k += blockDim.x) shared_kinds[k] = kinds[k];
  __syncthreads();
  const int first = blockIdx.x * blockDim.x * POSES + threadIdx.x;
  float3 rows[POSES][3];
  float4 shift[POSES];
  float energy[POSES];
#pragma unroll
  for (int p = 0; p < POSES; p++) {
    const int pose = min(first + p * (int)blockDim.x, pose_count - 1);
    float sx, cx, sy, cy, sz, cz;
    sincosf(poses[pose], &sx, &cx);
    sincosf(poses[pose_count + pose], &sy, &cy);
    sincosf(poses[2 * pose_count + pose], &sz, &cz);
    rows[p][0] = make_float3(cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz);
    rows[p][1] = make_float3(cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz);
    rows[p][2] = make_float3(-sy, sx * cy, cx * cy);
    shift[p] = make_float4(poses[3 * pose_count + pose], poses[4 * pose_count + pose], poses[5 * pose_count + pose], 0.0f);
    energy[p] = 0.0f;
  }
  for (int l = 0; l < ligand_atoms; l++) {
    const float4 atom = ligand[l];
    const Kind own = shared_kinds[ligand_kind[l]];
    float3 place[POSES];
#pragma unroll
    for (int p = 0; p < POSES; p++) {
      place[p].x = shift[p].x + rows[p][0].x * atom.x + rows[p][0].y * atom.y + rows[p][0].z * atom.z;
      place[p].y = shift[p].y + rows[p][1].x * atom.x + rows[p][1].y * atom.y + rows[p][1].z * atom.z;
      place[p].z = shift[p].z + rows[p][2].x * atom.x + rows[p][2].y * atom.y + rows[p][2].z * atom.z;
    }
    for (int r = 0; r < protein_atoms; r++) {
      const float4 other = protein[r];
      const Kind its = shared_kinds[protein_kind[r]];
      const float radii = own.radius + its.radius;
      const float per_radii = 1.0f / radii;
      const float charges = own.charge * its.charge;
      const bool wet = own.wet > 0.5f && its.wet > 0.5f;
#pragma unroll
      for (int p = 0; p < POSES; p++) {
        const float x = place[p].x - other.x, y = place[p].y - other.y, z = place[p].z - other.z;
        const float distance = sqrtf(x * x + y * y + z * z);
        const float between = distance - radii;
        const bool inside = between < 0.0f;
        energy[p] += (1.0f - distance * per_radii) * (inside ? 2.0f * its.hardness : 0.0f);
        const float near = inside ? 1.0f : 1.0f - between * 0.25f;
        energy[p] += charges * (between < 4.0f ? near : 0.0f);
        if (wet) energy[p] -= between < 2.0f ? (inside ? 1.0f : 1.0f - between * 0.5f) : 0.0f;
      }
    }
  }
#pragma unroll
  for (int p = 0; p < POSES; p++) {
    const int pose = first + p * blockDim.x;
    if (pose < pose_count) energies[pose] = 0.5f * energy[p];
  }
}
