// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.rules.FeatureGates;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The settings for all requests.
 *
 * @param port of plain HTTP; 0 takes a free one
 * @param tls whether a second, free port speaks TLS
 * @param goawayChance of each request of HTTP/2 to be its connection's last, from 0 to 1
 * @param requestTimeout how long a request's body may take to arrive
 * @param bookmarkInterval the interval of bookmarks in watches that request them
 * @param gates of the release
 * @param random draws how long a watch lasts
 */
public record Serving(
        int port,
        boolean tls,
        double goawayChance,
        Duration requestTimeout,
        Duration bookmarkInterval,
        FeatureGates gates,
        RandomGenerator random) {}
