/**
 * What the table of `npu-smi info` tells of Ascend NPUs: two lines for each chip, the second one with its PCI address.
 */
import type { Numbers } from '../../health.ts'
import { formatPciAddress, parsePciAddress } from '../../pci.ts'
import { type Tool, createTool } from '../pci/measured.ts'

const TOOL_MS = 8000
const ALARMS: Readonly<Record<string, number>> = { OK: 0, Warning: 1, Alarm: 2, Critical: 3 }

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const numbered = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined

/** `first`: health, and power and temperature; `second`: address, and utilisation. */
const chip = (first: readonly string[], second: readonly string[]): Numbers => {
  const [power, degrees] = (first[2] ?? '').split(/\s+/).map(numbered)
  const [busy] = (second[2] ?? '').split(/\s+/).map(numbered)
  const alarm = ALARMS[first[1] ?? '']
  return {
    ...(alarm !== undefined && { vendor_alarm: alarm }),
    ...(power !== undefined && { power_watts: power }),
    ...(degrees !== undefined && { temperature_celsius: degrees }),
    ...(busy !== undefined && { utilisation_percent: busy }),
  }
}

/** Pure. What is no such pair of lines is passed over. */
const numbersInTable = (text: string): ReadonlyMap<string, Numbers> => {
  const lines = text.split('\n').map(cellsOf)
  return new Map(
    lines.flatMap((cells, at) => {
      const address = parsePciAddress(cells[1] ?? '')
      const first = lines[at - 1]
      if (address === null || first?.length !== cells.length) return []
      return [[formatPciAddress(address), chip(first, cells)]]
    }),
  )
}

export const npuSmi = (program: string): Tool =>
  createTool(async (io, signal) => numbersInTable(await io.run(program, ['info'], TOOL_MS, signal)))
