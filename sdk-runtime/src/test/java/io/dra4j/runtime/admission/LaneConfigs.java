// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.ConfigType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The configurations of a driver of lanes; the reviews among the resources have them. */
public final class LaneConfigs {

    public static final String DRIVER = "lane.example.com";

    record LaneConfig(@Nullable Integer lanes, @Nullable String mode) {
        private List<String> problems() {
            return lanes != null && lanes <= 8 ? List.of() : List.of("lanes must be 1 to 8");
        }

        private LaneConfig normalized() {
            return lanes == null ? new LaneConfig(1, mode) : this;
        }
    }

    record LaneAdminConfig() {}

    public static final List<ConfigType<?>> TYPES = List.of(
            ConfigType.builder("lane.example.com/v1", "LaneConfig", LaneConfig.class)
                    .normalize(LaneConfig::normalized)
                    .validate(LaneConfig::problems)
                    .changesDevice(config -> "fast".equals(config.mode()))
                    .build(),
            ConfigType.builder("lane.example.com/v1", "LaneAdminConfig", LaneAdminConfig.class)
                    .sources(ConfigSource.FROM_CLASS)
                    .build());

    private LaneConfigs() {}
}
