// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
const longest = 44

/** Gives short code a separate class, so that options and names are not broken at hyphens. */
export function shortCode(md) {
  md.core.ruler.push('short_code', ({ tokens }) => {
    tokens
      .flatMap(({ children }) => children ?? [])
      .filter(({ type, content }) => type === 'code_inline' && content.length <= longest)
      .forEach((token) => token.attrJoin('class', 'short'))
  })
}
