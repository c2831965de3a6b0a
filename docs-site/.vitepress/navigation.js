// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The four kinds of pages, each with groups of pages in their order in the sidebar. */
const kinds = [
  { text: 'Tutorial', folder: 'tutorial', groups: [{ pages: ['first-driver'] }] },
  {
    text: 'How-to',
    folder: 'how-to',
    groups: [
      { text: 'Install', pages: ['install', 'install-on-platforms', 'move-from-a-device-plugin', 'switch-from-a-go-driver'] },
      { text: 'Use devices', pages: ['choose-devices', 'configure-devices', 'share-devices', 'pass-gpus-to-virtual-machines'] },
      { text: 'Operate', pages: ['debug-a-pending-claim', 'find-what-is-wrong', 'audit-a-node', 'operate-a-node', 'monitor'] },
      { text: 'Write a driver', pages: ['write-your-provider', 'test-your-driver'] },
      { text: 'Test any driver', pages: ['test-a-driver', 'try-without-a-cluster'] },
      { text: 'Change the SDK', pages: ['simulate-a-crash'] },
    ],
  },
  {
    text: 'Reference',
    folder: 'reference',
    groups: [
      { text: 'Programs', pages: ['settings', 'metrics', 'journal'] },
      { text: 'Drivers', pages: ['nvidia-driver', 'nvml-answers', 'attributes'] },
      { text: 'Deployment', pages: ['images', 'charts', 'drop-in'] },
      { text: 'Releases', pages: ['version-skew'] },
      { text: 'Conformance', pages: ['requirements', 'conformance', 'league', 'embedded-api-server'] },
    ],
  },
  {
    text: 'Explanation',
    folder: 'explanation',
    groups: [{ pages: ['claims', 'allocation', 'publishing', 'reports', 'misread-guides', 'costs', 'real-cluster', 'code', 'decisions'] }],
  },
]

function names(path) {
  return readdirSync(path)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -3))
    .sort()
}

function item(folder, page) {
  const text = readFileSync(join(root, folder, `${page}.md`), 'utf8')
  const title = /^# (.+)$/m.exec(text)
  if (!title) throw new Error(`${folder}/${page}.md has no title: begin it with "# "`)
  return { text: title[1], link: `/${folder}/${page}` }
}

/** Groups with the pages that exist; those that no group names come last. */
function groups({ folder, groups }) {
  const named = groups.map(({ text, pages }) => ({ text, pages: pages.filter((page) => existsSync(join(root, folder, `${page}.md`))) }))
  const listed = new Set(named.flatMap(({ pages }) => pages))
  const rest = names(join(root, folder)).filter((page) => !listed.has(page))
  return [...named, { text: 'More', pages: rest }]
    .filter(({ pages }) => pages.length > 0)
    .map(({ text, pages }) => ({ text, items: pages.map((page) => item(folder, page)) }))
}

export const sections = kinds.map((kind) => ({ text: kind.text, folder: kind.folder, first: groups(kind)[0].items[0].link }))

export function sidebar() {
  return Object.fromEntries(kinds.map((kind) => [`/${kind.folder}/`, groups(kind)]))
}
