// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.runtime.internal.cluster.ClusterException.Forbidden;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verbs that RBAC does not allow a driver: each is logged once, with the consequence, and each refusal is counted.
 * The sender of the request need not log it again. Thread-safe.
 */
final class MissingPermissions {

    private static final Logger LOG = LoggerFactory.getLogger(MissingPermissions.class);

    /** The API server's own message; a refusal by an admission policy has another. */
    private static final Pattern REFUSAL = Pattern.compile(
            "cannot ([a-z:-]{1,63}) resource \"([a-z./-]{1,63})\" in API group \"([a-z0-9.-]{0,253})\"");

    private final Meters meters;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    static String message(String verb, String resource, String group) {
        return "cannot %s resource \"%s\" in API group \"%s\"".formatted(verb, resource, group);
    }

    MissingPermissions(Meters meters) {
        this.meters = meters;
    }

    /**
     * Notes a response with status 403.
     *
     * @param reason the message in the response
     * @return the failure; empty if RBAC is not the reason
     */
    Optional<Forbidden> refused(String what, String reason) {
        Matcher refusal = REFUSAL.matcher(reason);
        if (!refusal.find()) {
            return Optional.empty();
        }
        Forbidden failure = new Forbidden(what, refusal.group(1), refusal.group(2));
        meters.count(Metric.MISSING_PERMISSIONS, failure.verb(), failure.resource());
        if (logged.add(failure.verb() + " " + failure.resource())) {
            log(failure, refusal.group(3));
        }
        return Optional.of(failure);
    }

    private static void log(Forbidden failure, String group) {
        LOG.atWarn()
                .addKeyValue(LogField.VERB, failure.verb())
                .addKeyValue(LogField.RESOURCE, failure.resource())
                .addKeyValue(LogField.API_GROUP, group.isEmpty() ? "core" : group)
                .log(
                        "The driver's ServiceAccount lacks a verb in its Role or ClusterRole: {}; this is logged once",
                        loss(failure.verb(), failure.resource()));
    }

    /** Returns what an admin loses, in a few words. */
    private static String loss(String verb, String resource) {
        return switch (resource) {
            case "events" -> "no Events on the Node; their messages are only in the log";
            case "resourceclaims/status", "resourceclaims/driver" ->
                verb.endsWith("patch")
                        ? "statuses of devices are updated instead, by the verb update"
                        : "no status of devices in claims, and no binding conditions";
            case "resourceclaims" -> "claims can't be prepared, followed or counted without it";
            case "resourceslices", "nodes" -> "devices can't be published without it";
            case "leases" -> "no replica can lead, so no pool is published";
            default -> "features that need it are left out";
        };
    }
}
