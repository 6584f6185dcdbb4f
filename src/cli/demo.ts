/** The simulated hosts of `--demo`: a small mixed cloud, or a sized one. The same command makes the same hosts again. */
import { type SimulatedHost, mixedCloud, sizedCloud } from '../drivers/simulatedCloud.ts'

export const DEMO_SEED = 'demo'
export type DemoSize = { readonly hosts: number; readonly devices: number; readonly handles: number }

/** `size` null: the mixed cloud. */
export const demoHosts = (size: DemoSize | null): readonly SimulatedHost[] => (size ? sizedCloud(DEMO_SEED, size) : mixedCloud(DEMO_SEED))
