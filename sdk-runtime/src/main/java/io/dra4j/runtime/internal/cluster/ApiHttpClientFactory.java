// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.net.http.HttpClient;

/** Makes fabric8's client on the JDK's, whose threads would else live for a minute. */
final class ApiHttpClientFactory extends JdkHttpClientFactory {

    @Override
    protected void additionalConfig(HttpClient.Builder builder) {
        builder.executor(ShortLivedThreads.waiting("dra4j-api"));
    }
}
