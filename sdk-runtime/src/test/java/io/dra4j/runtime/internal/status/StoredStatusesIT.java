// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

@Isolated
class StoredStatusesIT extends StoredStatusesUnderTest {

    private static DeviceStatus report(String ip) {
        return DeviceStatus.builder()
                .condition(new Condition("Ready", ConditionStatus.TRUE, "Up", ""))
                .networkData(new NetworkData("eth0", List.of(ip), "02:00:00:00:00:0A"))
                .build();
    }

    @ParameterizedTest
    @CsvSource({"::ffff:10.1.2.3/120, 10.1.2.3/24", "2001:DB8:0::1/64, 2001:db8::1/64"})
    void anAddressInAnotherFormIsStoredInItsCanonicalOne(String ip, String canonical) {
        prepare(report(ip));

        assertThat(stored().at("/networkData/ips/0").asText()).isEqualTo(canonical);
        assertThat(stored().at("/networkData/hardwareAddress").asText()).isEqualTo("02:00:00:00:00:0A");
        assertThat(stored().at("/conditions/0/type").asText()).isEqualTo("Ready");
        assertThat(refusals).isEmpty();
    }

    @Test
    void anAmbiguousAddressIsLoggedWhileTheRestIsStored() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ClaimReports.class);
        logger.addAppender(log);
        try {
            prepare(report("010.1.2.3/24"));
            loop.advance(Duration.ofHours(1));
        } finally {
            logger.detachAppender(log);
        }

        assertThat(stored().has("networkData")).isFalse();
        assertThat(stored().at("/conditions/0/type").asText()).isEqualTo("Ready");
        assertThat(refusals).isEmpty();
        assertThat(log.list).hasSize(1);
        ILoggingEvent event = log.list.get(0);
        assertThat(event.getLevel()).isEqualTo(Level.ERROR);
        assertThat(event.getFormattedMessage())
                .contains("status.devices[gpu-0].networkData.ips[0]: ", "\"010.1.2.3/24\"");
        assertThat(event.getKeyValuePairs()).extracting(pair -> pair.key).contains(LogField.CLAIM, LogField.DEVICE);
    }
}
