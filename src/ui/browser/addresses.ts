/** How the address of a page changes while the page stays. Pure. */
import { DONE_NAMES } from '../doneArguments.ts'
import { WAY_NAMES } from '../view/ways.ts'

/** The query of the present address with what the link chooses; other parts, such as what was just done, stay. */
export const searchAfter = (search: string, link: string): string => {
  const [present, chosen] = [new URLSearchParams(search), new URL(link).searchParams]
  for (const name of WAY_NAMES) {
    const value = chosen.get(name)
    if (value === null) present.delete(name)
    else present.set(name, value)
  }
  const text = present.toString()
  return text === '' ? '' : `?${text}`
}

/** Without what says that an action was carried out. */
export const withoutDone = (address: string): string => {
  const url = new URL(address)
  for (const name of DONE_NAMES) url.searchParams.delete(name)
  return url.href
}
