/**
 * What the table of `npu-smi info` tells of Ascend NPUs: two lines for each chip, the second one with its PCI address.
 */
import type { Numbers } from '../../vocabulary/health.ts'
import { formatPciAddress, parsePciAddress } from '../../vocabulary/pci.ts'
import type { Tool } from '../pci/measured.ts'
import { createTool, errorWord, type Parsed, type Row } from './tool.ts'

const ALARMS: Readonly<Record<string, number>> = { OK: 0, WARNING: 1, ALARM: 2, CRITICAL: 3 }

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const numbered = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined

/** `first`: health, and power and temperature; `second`: address, and utilisation. */
const chip = (first: readonly string[], second: readonly string[]): Row => {
  const health = first[1] ?? ''
  const texts = (first[2] ?? '').split(/\s+/).slice(0, 2)
  const use = (second[2] ?? '').split(/\s+/).slice(0, 1)
  const [power, degrees] = texts.map(numbered)
  const [busy] = use.map(numbered)
  const alarm = ALARMS[health.toUpperCase()]
  const numbers: Numbers = {
    ...(alarm !== undefined && { vendor_alarm: alarm }),
    ...(power !== undefined && { power_watts: power }),
    ...(degrees !== undefined && { temperature_celsius: degrees }),
    ...(busy !== undefined && { utilisation_percent: busy }),
  }
  const words = [...(alarm === undefined ? [health] : []), ...texts, ...use]
  return { numbers, words: words.flatMap((text) => errorWord(text) ?? []) }
}

/** Pure. What is no such pair of lines is passed over. */
const parse = (text: string): Parsed => {
  const lines = text.split('\n')
  const cells = lines.map(cellsOf)
  const rows = cells.flatMap((second, at): (readonly [string, Row])[] => {
    const address = parsePciAddress(second[1] ?? '')
    const first = cells[at - 1]
    if (address === null || first?.length !== second.length) return []
    return [[formatPciAddress(address), chip(first, second)]]
  })
  return { rows: new Map(rows), rest: lines.filter((line) => !/^\s*[|+]/.test(line)) }
}

export const npuSmi = (program: string): Tool => createTool({ program, args: ['info'], parse })
