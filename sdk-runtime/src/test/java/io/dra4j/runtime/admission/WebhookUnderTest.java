// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import io.dra4j.runtime.AdmissionWebhook;
import io.dra4j.runtime.internal.tls.TestKeys;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;

/** A webhook for {@link LaneConfigs} on a free port, and clients of it. */
final class WebhookUnderTest implements AutoCloseable {

    static final String CLAIMS = "/validate-resource-claim-parameters";
    static final String PODS = "/validate-pods";

    final SSLContext tls;
    private final AdmissionWebhook webhook;

    WebhookUnderTest(Path folder, List<String> extendedResources) throws Exception {
        TestKeys keys = TestKeys.make(folder, "webhook", "EC");
        tls = TestKeys.client(keys);
        webhook =
                AdmissionWebhook.of(
                                LaneConfigs.DRIVER,
                                LaneConfigs.TYPES,
                                Files.writeString(folder.resolve("tls.crt"), keys.certificatePem()),
                                Files.writeString(folder.resolve("tls.key"), keys.keyPem()))
                        .port(0)
                        .refuseExtendedResources(extendedResources);
        webhook.start();
    }

    int port() {
        return webhook.address().getPort();
    }

    HttpClient client() throws GeneralSecurityException {
        return HttpClient.newBuilder().sslContext(tls).build();
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port() + path))
                .timeout(Duration.ofSeconds(30));
    }

    HttpRequest review(String path, String document) {
        return request(path)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(document))
                .build();
    }

    HttpResponse<String> post(String path, String document) throws Exception {
        return send(review(path, document));
    }

    HttpResponse<String> send(HttpRequest request) throws Exception {
        return client().send(request, BodyHandlers.ofString());
    }

    @Override
    public void close() throws IOException {
        webhook.close();
    }
}
