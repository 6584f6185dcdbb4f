/**
 * Elements as functions: `div({ class: 'x' }, ...children)`. The same tree is rendered on the server and taken over in
 * the browser.
 */
import { type ComponentChild, type VNode, h } from 'preact'

export type Child = ComponentChild
export type Node = VNode
/**
 * Without styles and handlers: the content policy allows no inline style, and the browser attaches its listeners by
 * itself.
 */
export type Props = Readonly<Record<string, string | number | boolean | null | undefined>> | null
export type Tag = (props: Props, ...children: readonly Child[]) => Node

const tag =
  (name: string): Tag =>
  (props, ...children) =>
    h(name, props, ...children)

export const a = tag('a')
export const button = tag('button')
export const circle = tag('circle')
export const code = tag('code')
export const datalist = tag('datalist')
export const dd = tag('dd')
export const details = tag('details')
export const div = tag('div')
export const dl = tag('dl')
export const dt = tag('dt')
export const footer = tag('footer')
export const form = tag('form')
export const h1 = tag('h1')
export const header = tag('header')
export const input = tag('input')
export const kbd = tag('kbd')
export const label = tag('label')
export const li = tag('li')
export const line = tag('line')
export const main = tag('main')
export const nav = tag('nav')
export const ol = tag('ol')
export const option = tag('option')
export const p = tag('p')
export const path = tag('path')
export const pre = tag('pre')
export const rect = tag('rect')
export const section = tag('section')
export const select = tag('select')
export const span = tag('span')
export const summary = tag('summary')
export const svg = tag('svg')
export const table = tag('table')
export const tbody = tag('tbody')
export const td = tag('td')
export const text = tag('text')
export const textarea = tag('textarea')
export const th = tag('th')
export const thead = tag('thead')
export const time = tag('time')
export const tr = tag('tr')
export const ul = tag('ul')
