// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import java.util.Locale;

/**
 * A version of {@code metadata.resource.k8s.io}, the format in which containers read about their devices; the newest
 * comes first.
 *
 * @see <a href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/5304-dra-attributes-downward-api">
 *     KEP-5304</a>
 */
public enum MetadataVersion {
    /** Known to readers from Kubernetes 1.37 on, which may not know an older version. */
    V1BETA1,
    /** Known to readers of Kubernetes 1.36. */
    V1ALPHA1;

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
