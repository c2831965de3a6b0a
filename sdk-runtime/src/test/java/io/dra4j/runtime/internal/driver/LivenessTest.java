// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.ProviderWithoutClaims;
import io.dra4j.runtime.internal.driver.Liveness.MountedDirectories;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated
class LivenessTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(Liveness.class, Level.WARN);

    private final List<DriverEvent> events = new ArrayList<>();
    private final Liveness liveness = new Liveness();
    private Supplier<Optional<String>> reason = Optional::empty;

    @BeforeEach
    void start() {
        liveness.started(new Provider(), new MountedDirectories(List.of()), events::add);
    }

    private long logged(Level level) {
        return log.list.stream().filter(event -> event.getLevel() == level).count();
    }

    @Test
    void aReasonIsLoggedAndRecordedOnceForAllProbes() {
        reason = () -> Optional.of("no library");

        assertThat(liveness.restartReason()).contains("no library");
        assertThat(liveness.restartReason()).contains("no library");

        assertThat(logged(Level.ERROR)).isEqualTo(1);
        assertThat(events).extracting(DriverEvent::reason).containsExactly(Reason.RESTART_NEEDED);
        assertThat(events.get(0).message()).contains("no library");
    }

    @Test
    void aProviderThatFailsToAnswerNeedsNoRestartAndIsLoggedOnce() {
        reason = () -> {
            throw new IllegalStateException("broken");
        };

        assertThat(liveness.restartReason()).isEmpty();
        assertThat(liveness.restartReason()).isEmpty();
        assertThat(logged(Level.WARN)).isEqualTo(1);

        reason = () -> null;
        assertThat(liveness.restartReason()).isEmpty();
        assertThat(logged(Level.WARN)).isEqualTo(1);

        reason = () -> Optional.of("no library");
        assertThat(liveness.restartReason()).contains("no library");
        assertThat(events).hasSize(1);
    }

    @Test
    void theProviderIsNotAskedBeforeItsStartAndAfterItsEnd() {
        reason = () -> Optional.of("no library");

        assertThat(new Liveness().restartReason()).isEmpty();
        liveness.close();
        assertThat(liveness.restartReason()).isEmpty();
        assertThat(events).isEmpty();
    }

    private final class Provider extends ProviderWithoutClaims {
        @Override
        public Optional<String> restartReason() {
            return reason.get();
        }

        @Override
        public Inventory inventory() {
            throw new AssertionError("probes ask no hardware");
        }
    }
}
