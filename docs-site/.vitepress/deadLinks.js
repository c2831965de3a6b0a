// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * Fails the build for links within the built site that lead nowhere: VitePress checks links in Markdown, but neither
 * their anchors nor the links of the home page's buttons.
 */
export function failOnDeadLinks({ outDir, site }) {
  const pages = new Map(
    readdirSync(outDir, { recursive: true })
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, readFileSync(join(outDir, file), 'utf8')]),
  )
  const anchors = new Map([...pages].map(([file, html]) => [file, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]))
  const dead = [...pages].flatMap(([file, html]) => deadLinks(file, html, site.base, anchors))
  if (pages.size === 0) throw new Error(`There is no page in ${outDir}`)
  if (dead.length > 0) throw new Error(`Dead links in the built site:\n${[...new Set(dead)].join('\n')}`)
}

function deadLinks(file, html, base, anchors) {
  return [...html.matchAll(/<a [^>]*href="([^"]+)"/g)]
    .map(([, href]) => href)
    .filter((href) => !/^[a-z]+:/.test(href))
    .filter((href) => !leadsSomewhere(href, file, base, anchors))
    .map((href) => `${file}: ${href}`)
}

function leadsSomewhere(href, file, base, anchors) {
  const [path, hash] = href.split('#')
  const target = path === '' ? file : page(path, file, base)
  return anchors.has(target) && (!hash || anchors.get(target).has(decodeURIComponent(hash)))
}

function page(path, file, base) {
  const full = path.startsWith('/') ? relative(base, path) : join(dirname(file), path)
  return full === '' || path.endsWith('/') ? join(full, 'index.html') : full.endsWith('.html') ? full : `${full}.html`
}
