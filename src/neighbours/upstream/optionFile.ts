/** Reads a group of an option file of MySQL (`my.cnf`). Pure. */

const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value

/** Names have hyphens, however they are written; an option without a value counts as set. */
export const optionsIn = (text: string, group: string): ReadonlyMap<string, string> => {
  const options = new Map<string, string>()
  let here = false
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    const section = /^\[(.*)\]$/.exec(line)
    if (section) here = section[1] === group
    if (!here || section || line === '' || /^[#;!]/.test(line)) continue
    const [name = '', ...value] = line.split('=')
    options.set(name.trim().toLowerCase().replaceAll('_', '-'), unquoted(value.join('=').trim()) || '1')
  }
  return options
}
