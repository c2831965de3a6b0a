// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/*
 * A stand-in of nvidia-cuda-mps-control: a control daemon with -f, which binds its socket, starts a server that it
 * leaves behind if it is killed, and keeps what it is told; a client without, which sends a line of its input. A
 * daemon ends by "quit".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 256 };

static struct sockaddr_un address(void) {
    struct sockaddr_un found = {.sun_family = AF_UNIX};
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    snprintf(found.sun_path, sizeof found.sun_path, "%s/control", folder ? folder : "/tmp/nvidia-mps");
    return found;
}

static int end(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return 1;
}

/* Answers one command; returns whether it was the last. */
static int answer(int client) {
    static char percentage[LONGEST] = "100.0\n";
    char command[LONGEST] = "";
    if (read(client, command, sizeof command - 1) <= 0) {
        return 0;
    }
    const char *reply = "\n";
    if (!strncmp(command, "set_default_active_thread_percentage ", 37)) {
        snprintf(percentage, sizeof percentage, "%s", command + 37);
    } else if (!strncmp(command, "get_default_active_thread_percentage", 36)) {
        reply = percentage;
    }
    if (write(client, reply, strlen(reply)) < 0) {
        perror("the client is gone");
    }
    return !strncmp(command, "quit", 4);
}

/* Does what a server does for a client of another user: it goes by the paths that the daemon was given. */
static int use_as(int user) {
    char path[2 * LONGEST];
    struct sockaddr_un at = address();
    if (setgid(user) || setuid(user)) {
        return end("setuid");
    }
    if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&at, sizeof at)) {
        return end(at.sun_path);
    }
    snprintf(path, sizeof path, "%s/server.log", getenv("CUDA_MPS_LOG_DIRECTORY"));
    FILE *log = fopen(path, "w");
    if (!log) {
        return end(path);
    }
    fclose(log);
    snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("LD_LIBRARY_PATH"));
    return fopen(path, "r") ? 0 : end(path);
}

static int serves(const char *user) {
    int status = 0;
    pid_t server = user ? fork() : 0;
    if (user && !server) {
        exit(use_as(atoi(user)));
    }
    return !user || (waitpid(server, &status, 0) == server && status == 0);
}

static int serve(const char *program) {
    struct sockaddr_un at = address();
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (struct sockaddr *)&at, sizeof at) || chmod(at.sun_path, 0666) || listen(listening, 8)) {
        return end(at.sun_path);
    }
    FILE *segment = fopen("/dev/shm/cuda.shm.stand-in", "w");
    if (!segment) {
        return end("/dev/shm");
    }
    fclose(segment);
    if (!serves(getenv("SERVER_USER"))) {
        return 1;
    }
    pid_t server = fork();
    if (!server) {
        execl(program, "nvidia-cuda-mps-server", "hang", NULL);
        exit(end(program));
    }
    for (int last = 0; !last;) {
        int client = accept(listening, NULL, NULL);
        if (client < 0) {
            return end("accept");
        }
        last = answer(client);
        close(client);
    }
    kill(server, SIGKILL);
    return 0;
}

static int ask(void) {
    char line[LONGEST] = "";
    struct sockaddr_un at = address();
    int daemon = socket(AF_UNIX, SOCK_STREAM, 0);
    if (!fgets(line, sizeof line, stdin) || connect(daemon, (struct sockaddr *)&at, sizeof at)) {
        puts("Cannot find MPS control daemon process");
        return 1;
    }
    ssize_t length = write(daemon, line, strlen(line)) < 0 ? -1 : read(daemon, line, sizeof line);
    fwrite(line, 1, length < 0 ? 0 : (size_t)length, stdout);
    return length < 0;
}

int main(int count, char **arguments) {
    if (count > 1 && !strcmp(arguments[1], "hang")) {
        pause();
    }
    return count > 1 && !strcmp(arguments[1], "-f") ? serve(arguments[0]) : ask();
}
