"""OpenMM on its CUDA platform (kernels compiled by NVRTC at run time) against its reference: forces, and positions after three steps."""

import numpy
import openmm
from checks import close, finish

PARTICLES = 108
rng = numpy.random.default_rng(1)
start = numpy.array([[0.47 * (i % 5), 0.47 * (i // 5 % 5), 0.47 * (i // 25)] for i in range(PARTICLES)]) + 0.02 * rng.random((PARTICLES, 3))


def nonbonded():
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(0.9)
    for i in range(PARTICLES):
        force.addParticle(0.3 * (-1) ** i, 0.3, 0.9)
    return force


def solvent():
    force = openmm.GBSAOBCForce()
    for i in range(PARTICLES):
        force.addParticle(0.2 * (-1) ** i, 0.15, 0.8)
    return force


def custom():
    force = openmm.CustomNonbondedForce("30*exp(-r/0.3)*(q1*q2+1)")
    force.addPerParticleParameter("q")
    force.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(0.9)
    for i in range(PARTICLES):
        force.addParticle([(-1) ** i])
    return force


def system_of(force):
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors((2.4, 0, 0), (0, 2.4, 0), (0, 0, 2.4))
    bonds, angles, torsions = openmm.HarmonicBondForce(), openmm.HarmonicAngleForce(), openmm.PeriodicTorsionForce()
    for _ in range(PARTICLES):
        system.addParticle(20.0)
    for i in range(0, PARTICLES, 4):
        bonds.addBond(i, i + 1, 0.45, 800.0)
        angles.addAngle(i, i + 1, i + 2, 2.0, 30.0)
        torsions.addTorsion(i, i + 1, i + 2, i + 3, 3, 0.5, 4.0)
        system.addConstraint(i + 2, i + 3, 0.47)
    for each in (force, bonds, angles, torsions):
        system.addForce(each)
    return system


def run(force, platform, options):
    integrator = openmm.VerletIntegrator(0.001)
    context = openmm.Context(system_of(force), integrator, openmm.Platform.getPlatformByName(platform), options)
    context.setPositions(start)
    context.applyConstraints(1e-6)
    forces = context.getState(getForces=True).getForces(asNumpy=True)._value
    integrator.step(3)
    return forces, context.getState(getPositions=True).getPositions(asNumpy=True)._value


for name, make in (("nonbonded", nonbonded), ("implicit solvent", solvent), ("custom", custom)):
    want, got = run(make(), "Reference", {}), run(make(), "CUDA", {"Precision": "mixed"})
    close(f"{name}: forces", got[0], want[0], 1e-4)
    close(f"{name}: positions", got[1], want[1], 1e-5)
finish()
