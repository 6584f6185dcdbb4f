/**
 * The simulated hosts of `--demo`: a small mixed cloud, or one of a given size. The same options always produce the
 * same hosts.
 */
import { type SimulatedHost, mixedCloud, sizedCloud } from '../../drivers/simulated/cloud.ts'
import type { Demo } from '../config/config.ts'

export const demoHosts = (demo: Demo | null): readonly SimulatedHost[] => {
  if (demo === null) return []
  return demo.kind === 'sized' ? sizedCloud(demo.seed, demo) : mixedCloud(demo.seed)
}
