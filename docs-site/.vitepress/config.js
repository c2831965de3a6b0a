// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vitepress'
import { failOnDeadLinks } from './deadLinks.js'
import { sections, sidebar } from './navigation.js'
import { shortCode } from './shortCode.js'
import { sourceLinks } from './sourceLinks.js'

/** The anchor of a heading as code forges generate it, so that one link works on both. */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}

export default defineConfig({
  title: 'dra4j',
  description: 'DRA drivers for Kubernetes in Java: an SDK, two drivers, and a conformance suite for drivers in any language',
  lang: 'en',
  base: process.env.DOCS_BASE ?? '/',
  head: [['link', { rel: 'icon', href: `${process.env.DOCS_BASE ?? '/'}mark.svg`, type: 'image/svg+xml' }]],
  ignoreDeadLinks: false,
  buildEnd: failOnDeadLinks,
  markdown: {
    theme: { light: 'github-light', dark: 'github-dark' },
    anchor: { slugify },
    config: (md) => md.use(sourceLinks).use(shortCode),
  },
  themeConfig: {
    logo: '/mark.svg',
    search: { provider: 'local' },
    nav: sections.map(({ text, first, folder }) => ({ text, link: first, activeMatch: `^/${folder}/` })),
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    docFooter: { prev: 'Previous page', next: 'Next page' },
    externalLinkIcon: true,
  },
})
