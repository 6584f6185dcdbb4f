/** What `doctor` is told: the configuration of the service, and what else it shall look at. */
import type { Clock } from '../../clock.ts'
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
  /** Files and folders of the configuration of Nova on this machine. None: it is not compared. */
  readonly novaConf: readonly string[]
  /** Whether the hardware of this machine is looked at. */
  readonly hardware: boolean
  /** Address of a control process. Null: it is not checked. */
  readonly api: string | null
  /** Delete consumer groups that are no longer used. */
  readonly mend: boolean
  readonly clock: Clock
}
