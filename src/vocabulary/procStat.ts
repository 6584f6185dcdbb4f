/** What `/proc/PID/stat` of Linux says of a process. Pure. */

/** Each field as the text has it; empty where the text lacks it. */
export type ProcStat = {
  readonly name: string
  /** One letter, see `hasEnded`. */
  readonly state: string
  readonly parent: string
  /** When the process was started: ticks of the clock since the start of the machine. */
  readonly started: string
}

export const procStat = (text: string): ProcStat => {
  // the name, in parentheses, may contain spaces and parentheses
  const end = text.lastIndexOf(')')
  const [state = '', parent = '', ...more] = text.slice(end + 2).split(' ')
  return { name: text.slice(text.indexOf('(') + 1, end), state, parent, started: more[17] ?? '' }
}

/**
 * Whether the process has ended, although its parent has not collected its exit status. In a container the parent may
 * never do so.
 */
export const hasEnded = ({ state }: Pick<ProcStat, 'state'>): boolean => /^[ZX]/.test(state)
