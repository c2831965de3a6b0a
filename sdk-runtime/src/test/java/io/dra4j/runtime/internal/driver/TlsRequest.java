// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.runtime.internal.admission.AdmissionService;
import io.dra4j.runtime.internal.http.HttpPages;
import io.dra4j.runtime.internal.http.HttpPages.HttpAnswer;
import io.dra4j.testkit.cluster.TestKeys;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.slf4j.LoggerFactory;

/** A program with the logging of a driver, which sends itself a request by HTTPS: what the JDK logs, it logs then. */
final class TlsRequest {

    private TlsRequest() {}

    /** Takes the verbosity, and a folder for its key. */
    public static void main(String[] args) throws Exception {
        AdmissionService.lookUpNoNames();
        DriverLogging.configure(false, Integer.parseInt(args[0]));
        TestKeys keys = TestKeys.ofServer(Path.of(args[1]), "server", "EC");
        KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
        own.init(keys.store(), TestKeys.PASSWORD.toCharArray());
        SSLContext server = SSLContext.getInstance("TLS");
        server.init(own.getKeyManagers(), null, null);
        try (HttpPages pages = HttpPages.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), server)) {
            pages.get("/page", (accept, body) -> HttpAnswer.text(200, "ok")).start();
            URI page = URI.create("https://127.0.0.1:" + pages.address().getPort() + "/page");
            HttpClient client =
                    HttpClient.newBuilder().sslContext(TestKeys.clientOf(keys)).build();
            int status = client.send(HttpRequest.newBuilder(page).build(), BodyHandlers.discarding())
                    .statusCode();
            LoggerFactory.getLogger("io.grpc.okhttp.OkHttpServerTransport").debug("a frame of HTTP/2");
            String name = InetAddress.getByAddress(new byte[] {127, 0, 0, 1}).getHostName();
            LoggerFactory.getLogger(TlsRequest.class).debug("The answer to {} has status {}", name, status);
        }
    }
}
