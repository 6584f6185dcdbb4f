/** The input of `doctor`: the configuration of the service, and which optional checks to make. */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Config } from '../config/config.ts'

export type DoctorOptions = Pick<
  Config,
  | 'database'
  | 'kafka'
  | 'topics'
  | 'nova'
  | 'control'
  | 'images'
  | 'keystone'
  | 'glance'
  | 'placement'
  | 'host'
  | 'data'
  | 'drivers'
  | 'enabledDrivers'
> & {
  /** Files and folders of Nova's configuration on this machine. Empty: it is not compared. */
  readonly novaConf: readonly string[]
  /** Whether to check the hardware of this machine. */
  readonly hardware: boolean
  /** Address of a control process. Null: it is not checked. */
  readonly api: string | null
  /** Whether to delete consumer groups that are no longer used. */
  readonly mend: boolean
  readonly clock: Clock
}
