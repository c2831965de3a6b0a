// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.rbac.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * One request on its way through the proxy: the proxy's own responses, and the log's entry.
 *
 * <p>The first end counts; later ends are ignored.
 */
final class Passage {

    /** The attribute of Jetty's request that holds it. */
    private static final String ATTRIBUTE = Passage.class.getName();

    private final RequestLog log;
    private final RecordedRequest recorded;
    private final byte[] body;
    private final Request request;
    private final Response response;
    private volatile boolean silent;

    Passage(RequestLog log, RecordedRequest recorded, byte[] body, Request request, Response response) {
        this.log = log;
        this.recorded = recorded;
        this.body = body;
        this.request = request;
        this.response = response;
        request.setAttribute(ATTRIBUTE, this);
    }

    static Passage of(Request request) {
        return (Passage) request.getAttribute(ATTRIBUTE);
    }

    RecordedRequest recorded() {
        return recorded;
    }

    byte[] body() {
        return body;
    }

    /** The server gets the request, and the client only the headers. */
    void silence() {
        silent = true;
    }

    boolean silent() {
        return silent;
    }

    void fault(Object words) {
        log.fault(recorded.number(), words.toString());
    }

    void answered(int status) {
        log.status(recorded.number(), status);
    }

    void ended(String errorText) {
        log.ended(recorded.number(), errorText);
    }

    /** Closes the client's connection: unsent bytes are lost. */
    void cut() {
        ended("");
        request.getConnectionMetaData().getConnection().getEndPoint().close();
    }

    /** Closes the client's connection, and releases the request. */
    void cut(Callback callback) {
        cut();
        callback.failed(new IOException("the proxy cut the connection"));
    }

    /** Interrupts the response as kube-apiserver does, with its HTTP/2 stream or its connection. */
    void abort() {
        if (!(request.getConnectionMetaData().getConnection() instanceof HTTP2Connection connection)) {
            cut();
            return;
        }
        ended("");
        Stream stream = connection.getSession().getStream(Integer.parseInt(request.getId()));
        if (stream != null) { // else it has ended
            stream.reset(new ResetFrame(stream.getId(), ErrorCode.INTERNAL_ERROR.code), Callback.NOOP);
        }
    }

    /** Answers with an API Status, as the API server does when it refuses a request. */
    void refuse(Effect.Status effect, Callback callback) {
        ObjectNode status = injected(effect.code(), effect.reason());
        long wait = effect.retryAfter().toSeconds();
        if (wait > 0) {
            status.putObject("details").put("retryAfterSeconds", wait);
            response.getHeaders().put(HttpHeader.RETRY_AFTER, wait);
        }
        WireFormat format = accepted();
        send(effect.code(), format.mediaType(), format.object(status), callback);
    }

    /** Answers as an API server does whose RBAC or admission policy does not allow the request. */
    void forbid(Refusal refusal, Callback callback) {
        WireFormat format = accepted();
        ended(refusal.status().toString());
        send(refusal.code(), format.mediaType(), format.object(refusal.status()), callback);
    }

    /** Refuses a watch by web socket; clients then open one by plain HTTP. */
    void refuseWebSocket(Callback callback) {
        fault("web sockets are not supported");
        send(200, WireFormat.JSON.mediaType(), new byte[0], callback);
    }

    /** Answers a watch with one event: its revision is too old. */
    void respondGone(Callback callback) {
        WireFormat format = accepted();
        send(200, format.watchType(), format.event(gone()), callback);
    }

    private WireFormat accepted() {
        return WireFormat.accepted(request.getHeaders());
    }

    private void send(int code, String type, byte[] body, Callback callback) {
        answered(code);
        ended("");
        response.setStatus(code);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        response.write(true, ByteBuffer.wrap(body), callback);
    }

    /** The Status that ends a watch whose revision is too old. */
    static ObjectNode gone() {
        return injected(410, "Expired");
    }

    private static ObjectNode injected(int code, String reason) {
        return status(code, reason, "injected by the proxy in front of the API server: " + reason);
    }

    /** A Status that no API server has written. */
    static ObjectNode status(int code, String reason, String message) {
        ObjectNode status = JsonNodeFactory.instance.objectNode();
        status.put("kind", "Status").put("apiVersion", "v1").putObject("metadata");
        status.put("status", "Failure").put("reason", reason).put("code", code);
        return status.put("message", message);
    }
}
