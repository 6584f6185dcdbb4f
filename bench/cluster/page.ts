/** The metrics page of one process, as numbers. */
export type Page = {
  /** Sum over all series of the name whose labels contain the text. */
  readonly sum: (name: string, labels?: string) => number
}

export const parsePage = (text: string): Page => {
  const series = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^([^{ ]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return { name, labels, value: Number(value) }
    })
  return {
    sum: (name, labels = '') =>
      series
        .filter((one) => one.name === name && one.labels.includes(labels))
        .reduce((total, { value }) => total + value, 0),
  }
}
export const readPage = async (url: string): Promise<Page> => parsePage(await (await fetch(url)).text())

/** Appends of all controls so far, those that another had overtaken, and reads of the journal's tail. */
export type Fences = { readonly appends: number; readonly stale: number; readonly recalls: number }
export const fencesOf = async (controls: readonly { readonly page: () => Promise<Page> }[]): Promise<Fences> => {
  const pages = await Promise.all(controls.map(({ page }) => page()))
  const total = (name: string, labels?: string): number =>
    pages.reduce((sum, page) => sum + page.sum(`accelerando_journal_${name}_total`, labels), 0)
  return { appends: total('appends'), stale: total('appends', 'verdict="stale"'), recalls: total('recalls') }
}
