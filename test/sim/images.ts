/** The images of the simulation. */
import { catalogueOf, filesOf } from '../support/images.ts'

const id = (end: string): string => `4a3bd0ae-0000-4000-8000-00000000${end}`
/** Gives a card a tree of two functions; only an operator loads it. */
export const DIVIDING = id('0003')
export const IMAGES = [id('0001'), id('0002'), DIVIDING] as const
export const UNKNOWN_IMAGE = id('dead')

const functions = [1, 2].map((n) => ({ name: `vf${n}`, pci_offset: String(n) }))
const topology = JSON.stringify({ pf_num: 1, vf_num: 2, pf: [{ name: 'pf', pci_offset: '0', vf: functions }] })

const isThere = (image: string): boolean => (IMAGES as readonly string[]).includes(image)
const says = (image: string): Readonly<Record<string, string>> => (image === DIVIDING ? { topology } : {})
export const imagesOf = () => catalogueOf(isThere, says)
export const imageFilesOf = () => filesOf(isThere, says)
