// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.rules.FeatureGates;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The settings for all requests.
 *
 * @param port the port for plain HTTP; 0 for a free one
 * @param tls whether a second, free port serves TLS
 * @param goawayChance the chance, from 0 to 1, that an HTTP/2 request is the last one on its connection
 * @param requestTimeout how long a request's body may take to arrive
 * @param bookmarkInterval the interval of bookmarks in watches that request them
 * @param gates the gates of the release
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
