/*
 * Floating-point state in a guest: patterns in the vector registers must survive
 * switches between threads of one address space, signals whose handlers overwrite
 * the registers, page faults, fork, vfork and exec. Ends with 0 if they do.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int wide; /* the processor has AVX */

/* Fill all registers from p (16 x 32 bytes), make a system call, store to q. */
static long hold(const void *p, void *q, long nr, long a, long b, long c)
{
	long ret;
	register long d __asm__("r10") = 0;

	if (wide)
		__asm__ volatile(
			"vmovdqu 0(%[p]),%%ymm0; vmovdqu 32(%[p]),%%ymm1; vmovdqu 64(%[p]),%%ymm2; vmovdqu 480(%[p]),%%ymm15;"
			"syscall;"
			"vmovdqu %%ymm0,0(%[q]); vmovdqu %%ymm1,32(%[q]); vmovdqu %%ymm2,64(%[q]); vmovdqu %%ymm15,480(%[q]);"
			: "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(d), [p] "r"(p), [q] "r"(q)
			: "rcx", "r11", "memory", "xmm0", "xmm1", "xmm2", "xmm15");
	else
		__asm__ volatile(
			"movdqu 0(%[p]),%%xmm0; movdqu 32(%[p]),%%xmm1; movdqu 64(%[p]),%%xmm2; movdqu 480(%[p]),%%xmm15;"
			"syscall;"
			"movdqu %%xmm0,0(%[q]); movdqu %%xmm1,32(%[q]); movdqu %%xmm2,64(%[q]); movdqu %%xmm15,480(%[q]);"
			: "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(d), [p] "r"(p), [q] "r"(q)
			: "rcx", "r11", "memory", "xmm0", "xmm1", "xmm2", "xmm15");
	return ret;
}

static long check(const char *what, int seed, long nr, long a, long b, long c)
{
	unsigned char p[512], q[512];
	static const int used[] = {0, 32, 64, 480};
	long ret;
	int i;

	for (i = 0; i < 512; i++)
		p[i] = q[i] = (unsigned char)(i * 7 + seed * 13 + 1);
	memset(q, 0, sizeof(q));
	ret = hold(p, q, nr, a, b, c);
	for (i = 0; i < 4; i++)
		if (memcmp(p + used[i], q + used[i], wide ? 32 : 16)) {
			printf("%s: a register has changed (thread %d)\n", what, seed);
			_exit(1);
		}
	return ret;
}

static void clobber(int sig)
{
	(void)sig;
	if (wide)
		__asm__ volatile("vpcmpeqd %%ymm0,%%ymm0,%%ymm0; vmovdqa %%ymm0,%%ymm1; vmovdqa %%ymm0,%%ymm2; vmovdqa %%ymm0,%%ymm15" ::: "xmm0", "xmm1", "xmm2", "xmm15");
	else
		__asm__ volatile("pcmpeqd %%xmm0,%%xmm0; movdqa %%xmm0,%%xmm1; movdqa %%xmm0,%%xmm2; movdqa %%xmm0,%%xmm15" ::: "xmm0", "xmm1", "xmm2", "xmm15");
	sched_yield();
}

static void *thread(void *arg)
{
	int seed = (int)(long)arg, i;
	struct timespec nap = {0, 1000 + 100 * seed};

	for (i = 0; i < 300; i++) {
		check("sched_yield", seed, SYS_sched_yield, 0, 0, 0);
		check("nanosleep", seed, SYS_nanosleep, (long)&nap, 0, 0);
		check("a signal", seed, SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t list[6];
	long i;

	wide = __builtin_cpu_supports("avx2") != 0;
	if (argc > 1) { /* the other end of exec */
		check("exec", 5, SYS_getpid, 0, 0, 0);
		return 0;
	}
	signal(SIGUSR1, clobber);
	for (i = 0; i < 6; i++)
		if (pthread_create(&list[i], NULL, thread, (void *)i))
			return 2;
	for (i = 0; i < 60; i++) {
		int status;
		long child = check("fork", 40, SYS_fork, 0, 0, 0);

		if (child == 0) {
			for (i = 0; i < 10; i++) {
				check("sched_yield in a child", 41, SYS_sched_yield, 0, 0, 0);
				check("a signal in a child", 42, SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
			}
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			return 3;
		if (i % 10 == 0) {
			pid_t p = vfork();
			if (p == 0) {
				execl("/proc/self/exe", argv[0], "again", NULL);
				_exit(4);
			}
			if (waitpid(p, &status, 0) != p || status)
				return 5;
		}
		check("after a child", 43, SYS_getpid, 0, 0, 0);
	}
	for (i = 0; i < 6; i++)
		pthread_join(list[i], NULL);
	puts("floating-point state survives");
	return 0;
}
