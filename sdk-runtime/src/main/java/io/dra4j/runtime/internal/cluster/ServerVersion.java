// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.rules.Release;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The API server's release, as it responds at {@code /version}.
 *
 * <p>A metric shows it; a release newer than all known ones is logged once, even if servers of several releases share
 * one address. Thread-safe.
 */
final class ServerVersion {

    private static final Logger LOG = LoggerFactory.getLogger(ServerVersion.class);

    private final Meters meters;
    private final Set<Release> noted = new HashSet<>();
    private volatile @Nullable Release last;

    ServerVersion(Meters meters) {
        this.meters = meters;
    }

    /**
     * Returns the version of a response, which distributions append to: {@code v1.34.1+k3s1}.
     *
     * @return empty if it has none; an intermediate proxy may respond with something else
     */
    static String of(String response) {
        try {
            return Json.parse(response).path("gitVersion").asText();
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    Optional<Release> read(String response) {
        Optional<Release> release = Release.of(of(response));
        release.ifPresent(this::note);
        return release;
    }

    private synchronized void note(Release release) {
        last = release;
        if (!noted.add(release)) {
            return;
        }
        String known = "1." + release.nearest().minor();
        meters.watch(Metric.KUBERNETES_RELEASE, () -> release.equals(last) ? 1 : 0, release.toString(), known);
        if (release.isNewerThanKnown()) {
            LOG.atWarn()
                    .addKeyValue(LogField.RELEASE, release)
                    .log(
                            "The API server is Kubernetes {}, which this driver does not know; it is treated as {}. Update the driver to one that knows it",
                            release,
                            known);
        }
    }
}
