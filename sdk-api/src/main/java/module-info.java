// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/** The SPI of a DRA driver, which vendors implement, and its value types. */
module io.dra4j.api {
    requires static transitive org.jspecify;

    exports io.dra4j.api;
    exports io.dra4j.api.claim;
    exports io.dra4j.api.container;
    exports io.dra4j.api.device;
    exports io.dra4j.api.error;
    exports io.dra4j.api.health;
    exports io.dra4j.api.metrics;
}
