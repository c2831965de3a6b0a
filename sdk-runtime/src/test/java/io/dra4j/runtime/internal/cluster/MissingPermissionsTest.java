// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.cluster.ClusterException.Forbidden;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.event.KeyValuePair;

@Isolated
class MissingPermissionsTest extends ClusterUnderTest {

    private static final String EVENTS = "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":"
            + "\"events is forbidden: User \\\"system:serviceaccount:a:b\\\" cannot create resource"
            + " \\\"events\\\" in API group \\\"\\\" in the namespace \\\"default\\\"\"}";

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(MissingPermissions.class, Level.WARN);

    @Test
    void eachVerbIsLoggedOnceWithItsResourceAndWhatIsLost() {
        server.then(403, EVENTS).then(403, EVENTS).then(403, "");

        for (int i = 0; i < 2; i++) {
            Forbidden refused =
                    catchThrowableOfType(Forbidden.class, () -> cluster.createEvent(true, "R", "a message"));
            assertThat(refused.verb()).isEqualTo("create");
            assertThat(refused.resource()).isEqualTo("events");
            assertThat(refused.isTransient()).isFalse();
        }
        Forbidden watch =
                catchThrowableOfType(Forbidden.class, () -> cluster.claimFeed().watch("1", new EventKinds<>()));

        assertThat(watch.verb()).isEqualTo("watch");
        assertThat(log.list).hasSize(2);
        ILoggingEvent event = log.list.get(0);
        assertThat(event.getLevel()).isEqualTo(Level.WARN);
        assertThat(event.getFormattedMessage()).contains("Role or ClusterRole", "no Events on the Node");
        assertThat(event.getKeyValuePairs()).containsExactlyElementsOf(fields("create", "events", "core"));
        assertThat(log.list.get(1).getKeyValuePairs())
                .containsExactlyElementsOf(fields("watch", "resourceclaims", "resource.k8s.io"));

        server.then(403, EVENTS.replace("events", "leases"));
        catchThrowableOfType(Forbidden.class, () -> cluster.createEvent(true, "R", "a message"));
        assertThat(log.list.get(2).getFormattedMessage()).contains("no replica can lead");
    }

    @Test
    void aVerbThatAValidationAsksForIsMissingToo() {
        server.then(
                422,
                "{\"reason\":\"Invalid\",\"message\":\"ResourceClaim \\\"c\\\" is invalid: status.devices: Forbidden:"
                        + " resourceclaims.resource.k8s.io \\\"c\\\" is forbidden: User \\\"u\\\" cannot"
                        + " associated-node:patch resource \\\"resourceclaims/driver\\\" in API group"
                        + " \\\"resource.k8s.io\\\" in the namespace \\\"default\\\"\"}");

        Forbidden refused = catchThrowableOfType(Forbidden.class, () -> cluster.createEvent(true, "R", "a message"));

        assertThat(refused.verb()).isEqualTo("associated-node:patch");
        assertThat(log.list).hasSize(1);
    }

    private static List<KeyValuePair> fields(String verb, String resource, String group) {
        return List.of(
                new KeyValuePair("verb", verb),
                new KeyValuePair("resource", resource),
                new KeyValuePair("api.group", group));
    }

    @Test
    void anAdmissionPolicyThatRefusesIsNoMissingVerb() {
        server.then(403, "{\"message\":\"events \\\"x\\\" is forbidden: ValidatingAdmissionPolicy 'p' denied it\"}");

        ClusterException refused =
                catchThrowableOfType(ClusterException.class, () -> cluster.createEvent(true, "R", "a message"));

        assertThat(refused).isNotInstanceOf(Forbidden.class).hasMessageContaining("denied it");
        assertThat(log.list).isEmpty();
    }
}
