/** The options that each program of a service of several processes requires. */
import type { Config } from './config.ts'
import { envName, flagName } from './table.ts'
import type { Key } from './table.ts'

const unset = (key: Key, program: string, why = ''): string =>
  `${key}: must be set for a ${program}${why} (${flagName(key)} or ${envName(key)})`

const ofControl = ({ database, kafka, auth }: Config): readonly string[] => [
  ...(database === null ? [unset('database', 'control')] : []),
  ...(kafka === null ? [unset('kafka.brokers', 'control')] : []),
  ...(auth === null ? [unset('auth', 'control', ', so that the API is never open by accident')] : []),
]
const ofHost = ({ kafka, demo }: Config): readonly string[] => [
  ...(kafka === null ? [unset('kafka.brokers', 'host')] : []),
  ...(demo?.kind === 'sized' && demo.hosts > 1
    ? ['demo_hosts: must not be set for a host: it is one host, sized by demo_devices and demo_handles']
    : []),
]

/** Problems as texts for the operator. An empty list: the program can start. */
export const lacks = (program: 'control' | 'host', config: Config): readonly string[] =>
  program === 'control' ? ofControl(config) : ofHost(config)
