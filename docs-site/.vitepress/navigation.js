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
      { text: 'Install', pages: ['install-on-kind', 'install-on-kubeadm', 'install-beside-gpu-operator', 'install-on-platforms', 'switch-from-a-go-driver', 'leave-a-device-plugin'] },
      { text: 'Use devices', pages: ['configure-devices', 'webhook', 'choose-devices', 'share-devices', 'share-gpus', 'mig', 'pass-gpus-to-virtual-machines', 'extended-resources', 'quotas-and-queues'] },
      { text: 'Operate', pages: ['debug-a-pending-claim', 'explain-a-pending-pod', 'see-who-has-what', 'find-what-is-wrong', 'audit-a-node', 'health-and-taints', 'take-a-gpu-out', 'device-policy', 'update-and-drain', 'monitor'] },
      { text: 'Write a driver', pages: ['write-your-provider', 'test-your-driver'] },
      { text: 'Test any driver', pages: ['test-a-driver', 'conformance-in-ci', 'try-without-a-cluster', 'simulate-a-node'] },
      { text: 'Change the SDK', pages: ['simulate-a-crash'] },
    ],
  },
  {
    text: 'Reference',
    folder: 'reference',
    groups: [
      { text: 'Programs', pages: ['settings', 'metrics', 'log-fields', 'events', 'journal'] },
      { text: 'Drivers', pages: ['nvidia-driver', 'nvml-answers', 'fake-driver', 'attributes', 'configurations'] },
      { text: 'Deployment', pages: ['images', 'charts', 'rbac', 'drop-in'] },
      { text: 'Releases', pages: ['version-skew', 'features'] },
      { text: 'Conformance', pages: ['requirements', 'league', ...all('reference', 'reports'), 'embedded-api-server'] },
      { text: 'Words and code', pages: ['glossary', 'javadoc'] },
    ],
  },
  {
    text: 'Explanation',
    folder: 'explanation',
    groups: [
      { pages: ['claims', 'allocation', 'publishing', 'reports', 'misread-guides', 'go-helper', 'footprint', 'scale', 'real-cluster', 'code'] },
      { text: 'Decisions', pages: all('explanation', 'decisions') },
    ],
  },
]

/** All pages of a folder below that of a kind. */
function all(kind, folder) {
  const path = join(root, kind, folder)
  return existsSync(path) ? names(path).map((name) => `${folder}/${name}`) : []
}

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
