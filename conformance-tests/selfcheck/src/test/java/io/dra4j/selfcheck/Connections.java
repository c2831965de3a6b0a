// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A socket and the connections to it, which can be cut as the end of a process cuts them. */
@Sharable
final class Connections extends ChannelInboundHandlerAdapter {

    private final Set<Channel> open = ConcurrentHashMap.newKeySet();
    private volatile boolean cut;

    /** Makes the socket. */
    ServerChannel listener() {
        ServerChannel listener = new EpollServerDomainSocketChannel();
        listener.pipeline().addFirst(this);
        open.add(listener);
        return listener;
    }

    @Override
    public void channelRegistered(ChannelHandlerContext context) {
        registered(context);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object accepted) {
        Channel connection = (Channel) accepted;
        open.add(connection);
        connection.closeFuture().addListener(end -> open.remove(connection));
        connection.pipeline().addFirst(new Late());
        context.fireChannelRead(accepted);
    }

    /** A connection that is accepted during the cut. */
    private final class Late extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRegistered(ChannelHandlerContext context) {
            registered(context);
        }
    }

    private void registered(ChannelHandlerContext context) {
        context.fireChannelRegistered();
        if (cut) {
            hangUp(context.channel());
        }
    }

    /** Hangs up without a word, which the protocol's handlers would have. */
    void cut() {
        cut = true;
        List<Channel> registered = open.stream().filter(Channel::isRegistered).toList();
        registered.forEach(Connections::hangUp);
        registered.forEach(each -> each.closeFuture().awaitUninterruptibly());
    }

    private static void hangUp(Channel channel) {
        channel.eventLoop().execute(() -> channel.unsafe().close(channel.voidPromise()));
    }
}
