/** Structured logs on standard error: JSON, or lines for people when standard error is a terminal. */
import { type Logger, pino } from 'pino'
import type { Config } from './config/config.ts'

const PRETTY = {
  target: 'pino-pretty',
  options: { destination: 2, colorize: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' },
}

export const openLog = ({ level, pretty }: Config['log']): Logger => {
  const people = pretty === 'always' || (pretty === 'auto' && process.stderr.isTTY)
  return people ? pino({ level, transport: PRETTY }) : pino({ level }, pino.destination({ dest: 2, sync: true }))
}
